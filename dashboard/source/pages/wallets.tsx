import type { AnswerOf, Wallet } from "../answers.ts";
import { Ago, Amount, Badge, Dollars, Hex, Table } from "../parts/bits.tsx";
import { Card, Empty, Loaded, Trouble } from "../parts/card.tsx";
import { useReading } from "../resource.ts";
import { linkToStrategy } from "../route.ts";

/** What the wallets have, and what others may take of them. */
export function WalletsPage() {
  const wallets = useReading("listWallets", "/wallets", { live: true, everyMs: 30_000 });
  const portfolio = useReading("getPortfolio", "/portfolio", { live: true, everyMs: 30_000 });
  return (
    <Loaded reading={wallets}>
      {(value) => (
        <div class="grid">
          <Trouble reading={portfolio} what="What they are worth" />
          {value.wallets.map((wallet) => (
            <WalletCard wallet={wallet} holdings={portfolio.value?.holdings ?? []} key={wallet.name} />
          ))}
          <AllowancesCard />
        </div>
      )}
    </Loaded>
  );
}

interface WalletCardProps {
  readonly wallet: Wallet;
  readonly holdings: AnswerOf<"getPortfolio">["holdings"];
}

function WalletCard({ wallet, holdings }: WalletCardProps) {
  const worth = new Map(
    holdings.filter((one) => one.wallet === wallet.name).map((one) => [one.money.address, one.valueUsd]),
  );
  return (
    <Card title={wallet.name} aside={<Badge state={wallet.halted === null ? wallet.kind : "halted"} />}>
      {wallet.halted !== null && <p class="trouble">It signs nothing: {wallet.halted}</p>}
      <p>
        <Hex text={wallet.address} kind="address" />
      </p>
      {wallet.block === null ? (
        <Empty>Its balances were not compared with the chain yet; that happens within minutes of a start.</Empty>
      ) : (
        <Table caption={`Balances of ${wallet.name}`} head={["Token", "#Amount", "#Worth"]}>
          {wallet.balances.map((money) => (
            <tr key={money.address}>
              <th scope="row">{money.symbol}</th>
              <td class="number">
                <Amount money={money} />
              </td>
              <td class="number">
                <Dollars value={worth.get(money.address) ?? null} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {wallet.block !== null && wallet.unread.length > 0 && (
        <p class="trouble">What it has of {wallet.unread.join(", ")} is not known.</p>
      )}
      <dl class="facts">
        <div>
          <dt>For gas</dt>
          <dd>{wallet.gas === null ? "not known: the chain did not answer" : <Amount money={wallet.gas} />}</dd>
        </div>
        <div>
          <dt>Left for gas, always</dt>
          <dd>
            <Amount money={wallet.gasReserve} />
          </dd>
        </div>
        {wallet.signer !== null && (
          <div>
            <dt>Signed for by</dt>
            <dd>{wallet.signer}</dd>
          </div>
        )}
        {wallet.delegate !== null && (
          <div>
            <dt>Runs the code of</dt>
            <dd>
              <Hex text={wallet.delegate} kind="address" />
            </dd>
          </div>
        )}
        <div>
          <dt>Compared with the chain</dt>
          <dd>{comparedAt(wallet)}</dd>
        </div>
      </dl>
      <p class="links">
        {wallet.strategies.map((id) => (
          <a href={linkToStrategy(id)} key={id}>
            {id}
          </a>
        ))}
      </p>
    </Card>
  );
}

function comparedAt({ block, fillsTo }: Wallet): string {
  if (block === null) return "–";
  return `at block ${block}${fillsTo === null ? "" : `; own swaps up to ${fillsTo} added`}`;
}

function AllowancesCard() {
  const reading = useReading("listAllowances", "/allowances");
  return (
    <Card
      title="Allowances"
      class="broad"
      aside={
        <button type="button" class="plain" onClick={reading.again}>
          Read again
        </button>
      }
    >
      <Loaded reading={reading}>
        {({ readAt, allowances, unread }) => (
          <>
            {unread.map(({ wallet, token, spender, reason }) => (
              <p class="trouble" key={`${wallet} ${token.address} ${spender}`}>
                What <Hex text={spender} kind="address" /> may take of {token.symbol} of {wallet} is not known: {reason}
              </p>
            ))}
            {allowances.length === 0 && unread.length > 0 && (
              <Empty>Of the tokens that answer, no contract may take any.</Empty>
            )}
            {allowances.length === 0 && unread.length === 0 && (
              <Empty>
                No contract may take a token of these wallets. Approvals are exact and are used up by their swap.
              </Empty>
            )}
            {allowances.length > 0 && (
              <Table caption="Allowances" head={["Wallet", "Token", "Spender", "#Amount", "#Worth", "For"]}>
                {allowances.map((one) => (
                  <tr key={`${one.wallet} ${one.token.address} ${one.spender}`}>
                    <td>{one.wallet}</td>
                    <td>{one.token.symbol}</td>
                    <td>
                      <Hex text={one.spender} kind="address" />
                    </td>
                    <td class="number">
                      {one.isUnlimited ? <Badge state="unlimited" tone="bad" /> : <Amount money={one.amount} />}
                    </td>
                    <td class="number">
                      <Dollars value={one.usd} />
                    </td>
                    <td>{one.swap === null ? "left over" : <code>{one.swap}</code>}</td>
                  </tr>
                ))}
              </Table>
            )}
            <p class="faint">
              Read from the chain <Ago instant={readAt} />.
            </p>
          </>
        )}
      </Loaded>
    </Card>
  );
}
