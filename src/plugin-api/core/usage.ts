// What plugins use of usage.
export { WARNING_SHARE } from '../../usage/budgets/budget-events.js';
export { ListedBudgets } from '../../usage/budgets/listed-budgets.js';
export { costBound, isPriced } from '../../usage/budgets/reserved-cost.js';
export { type BudgetState, SpendBudgets } from '../../usage/budgets/spend-budgets.js';
export { UsageLedger } from '../../usage/ledger/usage-ledger.js';
export {
  FAILED_OUTCOMES,
  isSeenFailure,
  STREAM_OUTCOMES,
  type StreamOutcome,
} from '../../usage/record/stream-outcome.js';
export type { TokenCount, UsageClient, UsageRecord } from '../../usage/record/usage-record.js';
export { AccountSums } from '../../usage/reports/account-sums.js';
export { type DaySumsPosition, ORDER_OF_ALL } from '../../usage/reports/day-sums.js';
export { HOUR_MS, HourSums } from '../../usage/reports/hour-sums.js';
export { type ListedStream, RecentStreams } from '../../usage/reports/recent-streams.js';
export { USAGE_FIGURES, wireAccountUsage, wireBudget, wireUsage } from '../../usage/reports/report-json.js';
export { ReportSemaphore } from '../../usage/reports/report-semaphore.js';
export { type RequestScopeFilter, scopeOf } from '../../usage/reports/request-scope.js';
export type { UsageFigures } from '../../usage/reports/usage-figures.js';
export { usagePeriod, type UsagePeriod } from '../../usage/reports/usage-period.js';
export { type AccountUsageRow, bounded, UsageReports, type UsageRow } from '../../usage/reports/usage-reports.js';
export { UsageReportsModule } from '../../usage/reports/usage-reports.module.js';
export { UsageBudget, UsageCounts } from '../../usage/reports/usage.dto.js';
export { ledgerText } from '../../usage/store/ledger-text.js';
