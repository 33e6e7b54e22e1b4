import { Inject, Injectable } from '@nestjs/common';
import { ChatPlugin, PLUGIN_CONFIG, TokensUsed, type AccountLimits, type LimitedCall } from 'chat-streaming-service';
import { z } from 'zod';

const Config = z.strictObject({
  /** The tokens that each account may use in a calendar month, by name of the tier. Other tiers have no such budget. */
  tokens_per_month: z.record(z.string(), z.int().min(0)).default({}),
});

/** A budget of tokens for each month. It survives restarts, because the count begins with the tokens of the ledger. */
@Injectable()
export class MonthlyBudget implements AccountLimits {
  constructor(
    @Inject(PLUGIN_CONFIG) private readonly config: z.infer<typeof Config>,
    private readonly ledger: TokensUsed,
  ) {}

  limitsOf({ principal: { accountId, tier } }: LimitedCall) {
    const max = this.config.tokens_per_month[tier.name];
    if (max === undefined) return [];
    const usedBefore = (from: Date) => this.ledger.since(accountId, from);
    const shown = { label: 'tokens per month', header: 'Tokens-Month' };
    return [{ name: 'monthly-budget', unit: 'tokens', window: 'month', max, usedBefore, ...shown } as const];
  }
}

@ChatPlugin({ name: 'monthly-budget', compatibility: '^1', config: Config, limits: [MonthlyBudget] })
export class MonthlyBudgetPlugin {}
