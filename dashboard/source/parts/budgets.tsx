import type { Budget, Status } from "../answers.ts";
import { dollars, shorten } from "../format/decimal.ts";
import { linkToStrategy } from "../route.ts";
import { Ago, Meter } from "./bits.tsx";

function inUnit(amount: string, token: string): string {
  return token === "USD" ? dollars(amount) : `${shorten(amount)} ${token}`;
}

/** A bound of a strategy's budget. */
export function BudgetMeter({ budget, strategy }: { readonly budget: Budget; readonly strategy?: string }) {
  const { period, token, limit, sold, left, renews } = budget;
  return (
    <Meter
      label={
        <>
          {strategy !== undefined && <a href={linkToStrategy(strategy)}>{strategy}</a>} {period}
        </>
      }
      used={sold}
      limit={limit}
      left={`${inUnit(left, token)} left`}
      note={
        <>
          {inUnit(sold, token)} of {inUnit(limit, token)}
          {renews !== null && (
            <>
              , renews <Ago instant={renews} />
            </>
          )}
        </>
      }
    />
  );
}

/** A ceiling of the policy. */
export function CapMeter({ name, cap }: { readonly name: string; readonly cap: Status["caps"]["day"] }) {
  if (cap.limitUsd === null) {
    return (
      <p class="meter-text">
        <span>{name}</span>
        <span>{dollars(cap.soldUsd)} sold; no ceiling</span>
      </p>
    );
  }
  return (
    <Meter
      label={name}
      used={cap.soldUsd}
      limit={cap.limitUsd}
      left={`${dollars(cap.leftUsd ?? "0")} left`}
      note={`${dollars(cap.soldUsd)} of ${dollars(cap.limitUsd)}, sold and reserved`}
    />
  );
}
