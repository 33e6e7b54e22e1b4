// What plugins use of usage.
export { WARNING_SHARE } from '../../usage/budgets/budget-events.js';
export { ListedBudgets } from '../../usage/budgets/listed-budgets.js';
export { costBound, isPriced } from '../../usage/budgets/reserved-cost.js';
export { type BudgetState, SpendBudgets } from '../../usage/budgets/spend-budgets.js';
export { InterruptedStreams } from '../../usage/ledger/interrupted-streams.js';
export { UsageLedger } from '../../usage/ledger/usage-ledger.js';
export {
  FAILED_OUTCOMES,
  isSeenFailure,
  STREAM_OUTCOMES,
  type StreamOutcome,
  type TokenCount,
  type UsageClient,
  type UsageRecord,
} from '../../usage/record/usage-record.js';
export { HourSums } from '../../usage/queries/hour-sums.js';
export { type DaySumsPosition, ORDER_OF_ALL, type UsageFigures } from '../../usage/queries/usage-sums.js';
export {
  type Receipt,
  type ListedStream,
  RecentStreams,
  type RequestScopeFilter,
  scopeOf,
} from '../../usage/queries/recent-streams.js';
export {
  USAGE_FIGURES,
  wireAccountUsage,
  wireBudget,
  wireUsage,
  UsageBudget,
  UsageCounts,
} from '../../usage/queries/usage.dto.js';
export { ReportSemaphore, usagePeriod, type UsagePeriod } from '../../usage/queries/usage-period.js';
export { type AccountUsageRow, bounded, UsageReports, type UsageRow } from '../../usage/queries/usage-reports.js';
export { UsageReportsModule } from '../../usage/queries/usage-reports.module.js';
export { ledgerText } from '../../usage/store/ledger-text.js';
