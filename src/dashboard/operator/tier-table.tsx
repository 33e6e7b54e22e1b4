import type { TierConfig } from '../../config/config.js';
import { count } from '../format/numbers.js';
import { limitsOf } from '../format/tier-limits.js';
import { pathWith } from '../parts/query.js';
import { Section } from '../parts/blocks.js';
import { Table } from '../parts/table.js';
import { ACCOUNTS_PATH } from '../paths.js';

interface TierTableProps {
  readonly tiers: readonly TierConfig[];
  readonly defaultTier: TierConfig;
  readonly countByTier: ReadonlyMap<string, number>;
}

interface TierRow {
  readonly name: string;
  readonly limits: readonly (readonly [label: string, limit: string])[];
  readonly remark: string | undefined;
}

/** The tiers of the configuration with their limits and their accounts, and the tiers of accounts that it no longer has. */
export function TierTable({ tiers, defaultTier, countByTier }: TierTableProps) {
  const gone = [...countByTier.keys()].filter((name) => !tiers.some((tier) => tier.name === name));
  const rows: readonly TierRow[] = [
    ...tiers.map((tier) => ({
      name: tier.name,
      limits: limitsOf(tier),
      remark: tier.name === defaultTier.name ? 'default' : undefined,
    })),
    ...gone.map((name) => ({
      name,
      limits: limitsOf(defaultTier),
      remark: 'not configured: the default tier applies',
    })),
  ];
  const nameOf = ({ name, remark }: TierRow) => (
    <>
      {name} {remark === undefined ? null : <small>{remark}</small>}
    </>
  );
  const accountsOf = ({ name }: TierRow) => {
    const accounts = countByTier.get(name) ?? 0;
    return accounts === 0 ? '0' : <a href={pathWith(ACCOUNTS_PATH, { tier: name })}>{count(accounts)}</a>;
  };
  return (
    <Section id="tiers" title="Tiers">
      <Table
        caption="Tiers"
        rows={rows}
        columns={[
          { title: 'Tier', cell: nameOf },
          ...limitsOf(defaultTier).map(([title], index) => ({
            title,
            isNumber: true,
            cell: ({ limits }: TierRow) => limits[index]?.[1],
          })),
          { title: 'Accounts', isNumber: true, cell: accountsOf },
        ]}
      />
      <p class="fine">Tiers and their limits are set in CONFIG_FILE.</p>
    </Section>
  );
}
