import { useEffect, useState } from "preact/hooks";
import { textOf } from "../model/problem.ts";
import { forgetReadings } from "../resource.ts";
import { enter } from "../session.ts";

/** The way in: a code that a person reads on the machine itself. */
export function LoginPage({ version, isOver }: { readonly version: string; readonly isOver: boolean }) {
  // Another person may come in next.
  useEffect(forgetReadings, []);
  const [code, setCode] = useState("");
  const [state, setState] = useState<{ isAsking: boolean; trouble?: string }>({ isAsking: false });
  const send = async (): Promise<void> => {
    setState({ isAsking: true });
    try {
      await enter(code);
    } catch (error) {
      setState({ isAsking: false, trouble: textOf(error) });
    }
  };
  return (
    <main class="alone">
      <h1>swapd</h1>
      {isOver && (
        <p class="trouble" role="alert">
          The login has ended: its time is over, or somebody revoked it. The daemon itself goes on.
        </p>
      )}
      <p>
        Run <code>swapd login</code> on the machine of the daemon (in a container:{" "}
        <code>docker compose exec swapd swapd login</code>) and enter the code that it prints. A code is valid for ten
        minutes and once.
      </p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        <label>
          One-time code
          <input
            type="text"
            name="code"
            autoComplete="one-time-code"
            autoCapitalize="off"
            spellcheck={false}
            required
            maxLength={100}
            value={code}
            onInput={(event) => setCode(event.currentTarget.value)}
          />
        </label>
        {state.trouble !== undefined && (
          <p class="trouble" role="alert">
            {state.trouble}
          </p>
        )}
        <button type="submit" class="primary" disabled={state.isAsking}>
          {state.isAsking ? "Asking…" : "Log in"}
        </button>
      </form>
      <p class="faint">swapd {version}</p>
    </main>
  );
}
