/** The URL of who listens at an address: one of IPv6 stands in brackets. */
export function httpUrl({ host, port }: { readonly host: string; readonly port: number }): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
