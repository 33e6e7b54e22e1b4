import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Extensions } from '../platform/common/extensions/extensions.js';
import type { LimitDefinition } from '../platform/config/limits/limit-table.js';
import { ACCOUNT_LIMITS, type AccountLimit, type AccountLimits, type LimitedCall } from './account-limits.js';
import type { Limit } from './limit-store.js';

const NAME = /^[a-z][a-z0-9-]*$/;
const SCOPE = /^[\w.:@-]{1,128}$/;
const NOTHING_BEFORE = (): Promise<number> => Promise.resolve(0);

/** A limit of a plugin, with what headers and errors need. */
export interface PluginLimit extends Limit {
  /** `undefined`: the account. */
  readonly scope: string | undefined;
  readonly definition: Pick<LimitDefinition, 'unit' | 'window' | 'label' | 'header' | 'code'>;
}

/** Asks the plugins for the limits of a request. */
@Injectable()
export class PluginLimits implements OnModuleInit {
  private sources: readonly AccountLimits[] = [];

  constructor(private readonly extensions: Extensions) {}

  onModuleInit(): void {
    this.sources = this.extensions.of(ACCOUNT_LIMITS);
  }

  /** True when no plugin has limits, so that a request can skip this class. */
  get isEmpty(): boolean {
    return this.sources.length === 0;
  }

  /** @throws {Error} when a limit is invalid, or two limits have one name. */
  async of(call: LimitedCall): Promise<readonly PluginLimit[]> {
    const limits = (await Promise.all(this.sources.map(async (source) => source.limitsOf(call)))).flat();
    const names = new Set<string>();
    for (const limit of limits) {
      const problem = names.has(limit.name) ? 'another limit of the request has the same name.' : problemOf(limit);
      if (problem !== undefined) throw new Error(`The limit "${limit.name}" of a plugin is invalid: ${problem}`);
      names.add(limit.name);
    }
    return limits.map(pluginLimit);
  }
}

function problemOf({ name, scope, unit, window, max, cost = 1 }: AccountLimit): string | undefined {
  const isCount = (number: number): boolean => Number.isSafeInteger(number) && number >= 0;
  if (!NAME.test(name)) return 'a name has lower-case letters, digits and hyphens, and begins with a letter.';
  if (scope !== undefined && !SCOPE.test(scope))
    return `a scope has 1 to 128 letters, digits and _.:@-, which "${scope}" has not.`;
  if (!isCount(max) || !isCount(cost)) return 'max and cost must be whole numbers of at least 0.';
  if ((window === 'none') !== (unit === 'streams'))
    return 'streams have the window none, and all other units another one.';
  return undefined;
}

function pluginLimit({
  name,
  key,
  scope,
  unit,
  window,
  max,
  cost,
  usedBefore,
  header,
  label,
}: AccountLimit): PluginLimit {
  return {
    name,
    scope,
    // Each limit has counters of its own, so that its tokens and its streams are counted apart from those of the tier.
    key: key === undefined ? `own:${name}` : `own:${name}:${key}`,
    unit,
    window,
    max,
    cost,
    usedBefore: usedBefore ?? NOTHING_BEFORE,
    definition: {
      unit,
      window,
      label,
      header: header === undefined ? undefined : `-${header}`,
      code: codeOf(unit, window),
    },
  };
}

function codeOf(unit: AccountLimit['unit'], window: AccountLimit['window']): LimitDefinition['code'] {
  if (unit === 'streams') return 'concurrency_limit_exceeded';
  return window === 'minute' ? 'rate_limit_exceeded' : 'quota_exceeded';
}
