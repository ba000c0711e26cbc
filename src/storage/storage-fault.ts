/** What SQLite says of a file, a disk or another process. Its other codes speak of what it was asked, which is ours. */
const OF_STORAGE = /^SQLITE_(BUSY|LOCKED|FULL|IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|PERM|PROTOCOL|NOMEM)/;

/** Whether a disk, a file or another process is in the way: it may pass. Everything else is a mistake of ours. */
export function isStorageFault(error: unknown): error is Error {
  if (!(error instanceof Error && "code" in error)) return false;
  return "syscall" in error || OF_STORAGE.test(String(error.code));
}

/** Whether another process kept the file locked for as long as it is waited for. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && "code" in error && /^SQLITE_(BUSY|LOCKED)/.test(String(error.code));
}
