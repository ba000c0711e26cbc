/** The parts of a URL as other programs write it for a channel, decoded. */
export interface PastedParts {
  readonly scheme: string;
  /** what stands before the @, up to a colon and after it; undefined where it is not there */
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** what stands after the @, up to the first slash: a host, or any other word */
  readonly place: string;
  readonly path: readonly string[];
  readonly query: ReadonlyMap<string, string>;
}

const FORM = /^([a-z]+):\/\/(?:([^/?@:]*)(?::([^/?@]*))?@)?([^/?@]*)((?:\/[^?]*)?)(?:\?(.*))?$/;

/**
 * Reads a URL that is none to a browser: a bot's token has a colon where a port would be, and a room a #.
 * @returns undefined when it has no such form, another scheme, or a key in its query that is not known
 */
export function readPasted(
  url: string,
  known: { readonly schemes: readonly string[]; readonly keys?: readonly string[] },
): PastedParts | undefined {
  const [, scheme = "", user, password, place = "", path = "", query = ""] = FORM.exec(url) ?? [];
  const searched = [...new URLSearchParams(query)];
  if (!known.schemes.includes(scheme)) return undefined;
  if (searched.some(([key]) => known.keys?.includes(key) !== true)) return undefined;
  try {
    return {
      scheme,
      user: decodedWord(user),
      password: decodedWord(password),
      place: decodeURIComponent(place),
      path: path
        .split("/")
        .filter((part) => part !== "")
        .map((part) => decodeURIComponent(part)),
      query: new Map(searched),
    };
  } catch {
    return undefined;
  }
}

function decodedWord(text: string | undefined): string | undefined {
  return text === undefined || text === "" ? undefined : decodeURIComponent(text);
}
