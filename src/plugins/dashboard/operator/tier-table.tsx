import { MICROS, type TierConfig } from '../../../plugin-api/core/config.js';
import { count, limitsOf, money } from '../format/numbers.js';
import { pathWith } from '../parts/query.js';
import { Section } from '../parts/blocks.js';
import { Table } from '../parts/table.js';
import { ACCOUNTS_PATH } from '../paths.js';

interface TierTableProps {
  readonly tiers: readonly TierConfig[];
  readonly defaultTier: TierConfig;
  readonly countByTier: ReadonlyMap<string, number>;
  /** Of the budgets. */
  readonly currency: string;
}

interface TierRow {
  readonly name: string;
  readonly tier: TierConfig;
  readonly remark: string | undefined;
}

/** The tiers of the configuration with their limits and their accounts, and the tiers of accounts that it no longer has. */
export function TierTable({ tiers, defaultTier, countByTier, currency }: TierTableProps) {
  const gone = [...countByTier.keys()].filter((name) => !tiers.some((tier) => tier.name === name));
  const rows: readonly TierRow[] = [
    ...tiers.map((tier) => ({
      name: tier.name,
      tier,
      remark: tier.name === defaultTier.name ? 'default' : undefined,
    })),
    ...gone.map((name) => ({
      name,
      tier: defaultTier,
      remark: 'not configured: the default tier applies',
    })),
  ];
  const nameOf = ({ name, remark }: TierRow) => (
    <>
      {name} {remark === undefined ? null : <small>{remark}</small>}
    </>
  );
  const budgetOf = ({ tier: { budget } }: TierRow) =>
    budget === undefined ? 'No budget' : `${money(budget.micros / MICROS, currency)} per ${budget.per}`;
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
            cell: ({ tier }: TierRow) => limitsOf(tier)[index]?.[1],
          })),
          { title: 'Budget', isNumber: true, cell: budgetOf },
          { title: 'Accounts', isNumber: true, cell: accountsOf },
        ]}
      />
      <p class="fine">Tiers and their limits are set in CONFIG_FILE.</p>
    </Section>
  );
}
