import type { ComponentChildren } from 'preact';
import { cost, count, decimalsOfColumn, tokens, type CostDecimals } from './number-text.js';
import type { UsageSum } from './usage-sum.js';

export interface UsageLine {
  readonly name: ComponentChildren;
  readonly sum: UsageSum;
}

export interface UsageTableProps {
  readonly caption: string;
  /** The heading of the first column, such as "Model". */
  readonly heading: string;
  readonly lines: readonly UsageLine[];
  readonly total: UsageSum;
  readonly withCost: boolean;
  /** Whether each line shows a bar for its share of all requests. */
  readonly withShares?: boolean;
}

export function UsageTable({ caption, heading, lines, total, withCost, withShares = false }: UsageTableProps) {
  const decimals = withCost ? decimalsOfColumn([total, ...lines.map(({ sum }) => sum)]) : undefined;
  return (
    <div class="table" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{heading}</th>
            <th scope="col" class="number">
              Requests
            </th>
            <th scope="col" class="number">
              Errors
            </th>
            <th scope="col" class="number">
              Input tokens
            </th>
            <th scope="col" class="number">
              Output tokens
            </th>
            {withCost ? (
              <th scope="col" class="number">
                Cost
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody>
          {lines.map(({ name, sum }, index) => (
            <tr key={index}>
              <th scope="row">
                {name}
                {withShares ? <Share part={sum.requests / Math.max(1, total.requests)} /> : null}
              </th>
              <Cells sum={sum} decimals={decimals} />
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <Cells sum={total} decimals={decimals} />
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

/** @param decimals the decimals of the costs. `undefined` for a table without costs. */
function Cells({ sum, decimals }: { readonly sum: UsageSum; readonly decimals: CostDecimals | undefined }) {
  return (
    <>
      <td class="number">{count(sum.requests)}</td>
      <td class={sum.errors > 0 ? 'number bad' : 'number'}>{count(sum.errors)}</td>
      <td class="number">{tokens(sum.inputTokens, sum)}</td>
      <td class="number">{tokens(sum.outputTokens, sum)}</td>
      {decimals === undefined ? null : <td class="number">{cost(sum, decimals)}</td>}
    </>
  );
}

function Share({ part }: { readonly part: number }) {
  return (
    <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="share-all" width="100" height="4" />
      <rect class="series-complete" width={Math.round(part * 1000) / 10} height="4" />
    </svg>
  );
}
