import { type AccountUsageRow, type UsageRow } from '../../../../src/usage/queries/usage-reports.js';

export const NOW = Date.parse('2026-11-21T13:00:00Z');

export const [TODAY, TOMORROW] = [new Date('2026-11-21T00:00:00Z'), new Date('2026-11-22T00:00:00Z')];

export const ROW: AccountUsageRow = {
  accountId: 'ada',
  day: '2026-11-21',
  model: 'acme/fast',
  credential: 'api_key',
  keyId: 'laptop',
  keyPrefix: 'csk_1',
  requests: 5,
  completed: 3,
  errors: 1,
  inputTokens: 100,
  outputTokens: 200,
  tokensUnknown: 2,
  tokensEstimated: 4,
  cost: 2.5,
  withoutCost: 4,
  currency: 'USD',
};

export const FIGURES = {
  requests: 5,
  completed: 3,
  errors: 1,
  prompt_tokens: 100,
  completion_tokens: 200,
  tokens_unknown: 2,
  cost_unknown: 4,
  cost: 2.5,
  currency: 'USD',
};

export async function* pagesOf(...pages: (readonly UsageRow[])[]): AsyncGenerator<readonly UsageRow[]> {
  await Promise.resolve();
  yield* pages;
}
