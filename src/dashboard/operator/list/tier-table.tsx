import type { TierConfig } from '../../../config/config.js';
import { limitsOf } from '../../account/tier-limits.js';
import { count } from '../../usage/number-text.js';
import { ACCOUNTS_PATH } from '../account-path.js';

interface TierTableProps {
  readonly tiers: readonly TierConfig[];
  readonly defaultTier: TierConfig;
  readonly countByTier: ReadonlyMap<string, number>;
}

/** The tiers of the configuration with their limits and their accounts, and the tiers of accounts that it no longer has. */
export function TierTable({ tiers, defaultTier, countByTier }: TierTableProps) {
  const gone = [...countByTier.keys()].filter((name) => !tiers.some((tier) => tier.name === name));
  return (
    <section aria-labelledby="tiers">
      <h2 id="tiers">Tiers</h2>
      <div class="table" role="region" aria-label="Tiers" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Tier</th>
              {limitsOf(defaultTier).map(([label]) => (
                <th key={label} scope="col" class="number">
                  {label}
                </th>
              ))}
              <th scope="col" class="number">
                Accounts
              </th>
            </tr>
          </thead>
          <tbody>
            {tiers.map((tier) => (
              <TierRow key={tier.name} name={tier.name} limits={tier} accounts={countByTier.get(tier.name)}>
                {tier.name === defaultTier.name ? 'default' : undefined}
              </TierRow>
            ))}
            {gone.map((name) => (
              <TierRow key={name} name={name} limits={defaultTier} accounts={countByTier.get(name)}>
                not configured: the default tier applies
              </TierRow>
            ))}
          </tbody>
        </table>
      </div>
      <p class="fine">Tiers and their limits are set in CONFIG_FILE.</p>
    </section>
  );
}

interface TierRowProps {
  readonly name: string;
  readonly limits: TierConfig;
  readonly accounts: number | undefined;
  /** A remark about the tier. */
  readonly children: string | undefined;
}

function TierRow({ name, limits, accounts = 0, children }: TierRowProps) {
  return (
    <tr>
      <th scope="row">
        {name} {children === undefined ? null : <small>{children}</small>}
      </th>
      {limitsOf(limits).map(([label, limit]) => (
        <td key={label} class="number">
          {limit}
        </td>
      ))}
      <td class="number">
        {accounts === 0 ? (
          '0'
        ) : (
          <a href={`${ACCOUNTS_PATH}?${new URLSearchParams({ tier: name }).toString()}`}>{count(accounts)}</a>
        )}
      </td>
    </tr>
  );
}
