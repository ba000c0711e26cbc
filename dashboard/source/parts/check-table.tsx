import type { Check } from "../answers.ts";
import { inWords } from "../format/words.ts";
import { Badge, CutHex, Table } from "./bits.tsx";

/** Every comparison that was made before a signature, failed ones first. */
export function CheckTable({ checks }: { readonly checks: readonly Omit<Check, "at">[] }) {
  if (checks.length === 0) return <p class="faint">No check was made yet.</p>;
  const sorted = [...checks].sort((a, b) => Number(a.passed) - Number(b.passed));
  return (
    <Table caption="Checks" class="checks" head={["Denied when", "Result", "Found", "Allowed"]}>
      {sorted.map(({ code, passed, value, limit }, place) => (
        <tr key={`${code} ${place}`}>
          <th scope="row" title={code}>
            {inWords(code)}
          </th>
          <td>
            <Badge state={passed ? "passed" : "failed"} tone={passed ? "good" : "bad"} />
          </td>
          <td class="text">
            <CutHex text={value} />
          </td>
          <td class="text">
            <CutHex text={limit} />
          </td>
        </tr>
      ))}
    </Table>
  );
}
