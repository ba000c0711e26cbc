import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const from = join(root, "src");

/** Packages with binaries, which they look up next to themselves. */
const OUTSIDE = [/^better-sqlite3(\/|$)/];

/**
 * Puts `src/` and its packages into a few files, because a process that loads 1,800 files takes twice the time to start.
 * Names stay as they are, so that a stack trace reads as in `src/`.
 * @param to the folder of the files; its `main.js` is the program
 * @param placeOf what stands in the bundled code in place of `import.meta.url` of a file of `src/`: a module looks for
 * its files where it stands, also as a part of another one
 * @returns all modules that are part of it, by their paths
 */
export async function bundle(to: string, placeOf: (file: string) => string): Promise<readonly string[]> {
  const staysInPlace = {
    name: "stays-in-place",
    enforce: "pre" as const,
    transform: (code: string, id: string) =>
      id.startsWith(from) && code.includes("import.meta.url")
        ? { code: code.replaceAll("import.meta.url", placeOf(id)), map: null }
        : undefined,
  };
  const made = await build({
    ...{ root, configFile: false, publicDir: false, logLevel: "warn", plugins: [staysInPlace] },
    ssr: { noExternal: true, target: "node" },
    build: {
      ...{ ssr: join(from, "main.ts"), outDir: to, emptyOutDir: true, target: "node24", minify: false },
      rolldownOptions: {
        external: OUTSIDE,
        output: { entryFileNames: "[name].js", chunkFileNames: "[name].js", assetFileNames: "[name][extname]" },
      },
    },
  });
  const files = [made].flat().flatMap((one) => ("output" in one ? one.output : []));
  return files.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []));
}
