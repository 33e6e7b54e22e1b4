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
} from '../../usage/record/stream-outcome.js';
export type { TokenCount, UsageClient, UsageRecord } from '../../usage/record/usage-record.js';
export { type DaySumsPosition, ORDER_OF_ALL } from '../../usage/queries/day-sums.js';
export { HourSums } from '../../usage/queries/hour-sums.js';
export type { Receipt } from '../../usage/queries/receipt-row.js';
export { type ListedStream, RecentStreams } from '../../usage/queries/recent-streams.js';
export { USAGE_FIGURES, wireAccountUsage, wireBudget, wireUsage } from '../../usage/queries/usage-json.js';
export { ReportSemaphore } from '../../usage/queries/report-semaphore.js';
export { type RequestScopeFilter, scopeOf } from '../../usage/queries/request-scope.js';
export type { UsageFigures } from '../../usage/queries/usage-figures.js';
export { usagePeriod, type UsagePeriod } from '../../usage/queries/usage-period.js';
export { type AccountUsageRow, bounded, UsageReports, type UsageRow } from '../../usage/queries/usage-reports.js';
export { UsageReportsModule } from '../../usage/queries/usage-reports.module.js';
export { UsageBudget, UsageCounts } from '../../usage/queries/usage.dto.js';
export { ledgerText } from '../../usage/store/ledger-text.js';
