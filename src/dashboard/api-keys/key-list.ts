import { Inject, Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import { ApiKeysService, type CreatedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { publicOriginOf } from '../../auth/same-origin/public-origin.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { CONFIG, type Config } from '../../config/config.js';
import { ModelCatalog } from '../../models/model-catalog.js';
import type { BudgetState } from '../../usage/budgets/spend-budgets.js';
import { KeyBudgets } from '../../usage/budgets/key-budgets.js';
import { optionalPart } from '../optional-part.js';
import type { Page } from '../page.js';
import { PAGE_SIZE, pagingOf } from '../parts/pagination.js';
import type { QueryValues } from '../parts/query.js';
import { ApiKeysView, type ApiKeysViewProps } from './api-keys-view.js';
import { KeySpends } from './key-spends.js';
import { chosenKeys, keyFilterIn, stateOf } from './listed-keys.js';
import type { NewKey, ReplacedKey } from './new-key-view.js';
import { sdkSnippets } from './sdk-code.js';

type Additions = Pick<ApiKeysViewProps, 'newKey' | 'done' | 'name' | 'lifetime' | 'problems'>;

/** Builds the page with the API keys of an account. */
@Injectable()
export class KeyList {
  constructor(
    private readonly keys: ApiKeysService,
    private readonly models: ModelCatalog,
    private readonly spends: KeySpends,
    private readonly budgets: KeyBudgets,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** Builds one page of the list, as the query wants it. */
  async page(accountId: string, additions: Additions, query: QueryValues = {}): Promise<Page> {
    const [all, spend] = await Promise.all([this.keys.list(accountId), this.spends.of(accountId)]);
    const filter = keyFilterIn(query);
    const now = this.now();
    const chosen = chosenKeys(all, filter, now);
    const paging = pagingOf(query['page'], chosen.length);
    const keys = chosen.slice(paging.offset, paging.offset + PAGE_SIZE);
    const active = keys.filter((key) => stateOf(key, now) === 'active');
    const budgets = (await optionalPart(this.budgets.of(accountId, active))) ?? new Map<string, BudgetState>();
    const content = ApiKeysView({
      accountId,
      keys,
      hasKeys: all.length > 0,
      filter,
      spend,
      budgets,
      paging,
      now,
      nextId: randomUUID(),
      ...additions,
    });
    return {
      ...{ title: 'API keys', section: 'api-keys', width: 'wide' },
      ...{ style: 'usage.css', script: 'api-keys.js', content },
    };
  }

  /** The properties to show a new key with, in the answer to the request that created the key. */
  newKey(created: CreatedApiKey, request: Request, replaced?: ReplacedKey): NewKey {
    const model = this.models.all()[0]?.id;
    const origin = publicOriginOf(request);
    const { compatibleApis } = this.config;
    const snippets = model === undefined ? [] : sdkSnippets(origin, created.key, model);
    return {
      ...{ created, origin, model, sdkSnippets: snippets.filter(({ api }) => compatibleApis.includes(api)) },
      ...(replaced === undefined ? {} : { replaced }),
    };
  }
}
