import { type Complaint, type Path, wrong } from "./complaint.ts";
import { isAboutSecret } from "./problem.ts";

/** What an unquoted text of YAML stands for here, or why it is refused. */
export type PlainScalar = { readonly value: string | number | boolean | null } | Complaint;

/**
 * Unquoted texts that YAML readers understand in different ways are refused; the others are numbers, booleans or text.
 * @param path where it stands: what may be a secret is not repeated
 */
export function plainScalar(text: string, path: Path): PlainScalar {
  const inQuotes = (): string => (isAboutSecret(path.join(".")) ? "put it in quotes" : `write "${text}"`);
  if (/^[-+]?0x/i.test(text))
    return wrong`YAML reads an unquoted 0x... as a number and loses digits -> ${text.length <= 42 ? inQuotes() : "put it in quotes"}`;
  if (/^[-+]?\d+(?::[0-5]?\d)+(?:\.\d*)?$/.test(text))
    return wrong`YAML 1.1 reads an unquoted time as a base-60 number -> ${inQuotes()}`;
  if (/^[-+]?(?:0\d[\d_]*|0o[0-7]+|0b[01]+)$/i.test(text))
    return wrong`a leading zero makes this an octal or binary number in some YAML readers -> ${inQuotes()}, or drop the zero`;
  if (/^[-+]?(?:\d[\d_]*\.?\d*|\.\d+)e[-+]?\d+$/i.test(text) || /^[-+]?\.(?:inf|nan)$/i.test(text))
    return wrong`numbers with an exponent are not used here -> write all digits, with the unit, in quotes`;
  if (text === "" || text === "~" || text.toLowerCase() === "null") return { value: null };
  if (/^(?:true|false)$/i.test(text)) return { value: text.toLowerCase() === "true" };
  if (/^[-+]?\d[\d_]*(?:\.\d*)?$/.test(text) || /^[-+]?\.\d+$/.test(text))
    return { value: Number(text.replaceAll("_", "")) };
  return { value: text };
}
