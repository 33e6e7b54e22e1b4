import { Get, Inject, Param, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { OperatorKeys } from '../../../accounts/operator-keys/operator-keys.service.js';
import type { VerifiedSession } from '../../../accounts/sessions/sessions.service.js';
import { authorOf } from '../../../auth/session/change-author.decorator.js';
import { CurrentSession } from '../../../auth/session/request-session.js';
import { CLOCK, type Clock } from '../../../common/clock.js';
import { Form } from '../../../http/body/form/form.decorator.js';
import { expiryOf } from '../../api-keys/lifetimes.js';
import { AccountForm } from '../../forms/account-form.decorator.js';
import type { FormProblems } from '../../forms/form-problems.js';
import type { Page } from '../../page.js';
import { PageController } from '../../page-controller.decorator.js';
import { Pages } from '../../pages.js';
import { positionIn, positionQuery } from '../../parts/list-position.js';
import { PAGE_SIZE } from '../../parts/pagination.js';
import { pathWith, type QueryValues } from '../../parts/query.js';
import { OperatorLog } from '../operator-log.js';
import { OperatorOnly } from '../operator-only.decorator.js';
import { NewOperatorKeyView } from './new-operator-key-view.js';
import { OPERATOR_KEYS_PATH } from './operator-keys-path.js';
import { OperatorKeysView, type OperatorKeyForm } from './operator-keys-view.js';

const DONE: ReadonlyMap<unknown, string> = new Map([['revoked', 'The key was revoked.']]);

/** What the page shows in addition to the keys. */
interface Shown {
  readonly query?: QueryValues;
  readonly form?: OperatorKeyForm;
  readonly problems?: FormProblems;
}

/** The page on which operators create and revoke the keys of the API for operators. */
@PageController(OPERATOR_KEYS_PATH.slice(1))
@OperatorOnly()
export class OperatorKeysPageController {
  constructor(
    private readonly pages: Pages,
    private readonly keys: OperatorKeys,
    private readonly log: OperatorLog,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  async show(
    @Query() query: QueryValues,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    this.pages.send(response, await this.page(operator.id, { query }));
  }

  /** Creates the key, and answers with a page that shows it. No later request can read the key again. */
  @Post()
  @Form()
  async create(
    @AccountForm() form: OperatorKeyForm,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    const { name = '', scope = 'read', expires_in_days: days } = form;
    await this.pages.submit(
      response,
      async () => {
        const expiresAt = expiryOf(days, this.now());
        const { id, key } = await this.keys.create({ name, scope, expiresAt }, authorOf(response.req));
        this.log.write('An operator key was created', { operatorId: operator.id, operatorKeyId: id });
        const content = NewOperatorKeyView({ name, secret: key });
        const page = { title: 'New operator key', section: 'accounts', script: 'shown-once.js', content } as const;
        this.pages.send(response, page, 201);
      },
      (problems) => this.page(operator.id, { form, problems }),
    );
  }

  @Post(':id/revoke')
  @Form()
  async revoke(
    @Param('id') id: string,
    @AccountForm() _form: unknown,
    @CurrentSession() { account: operator }: VerifiedSession,
    @Res() response: Response,
  ): Promise<void> {
    await this.keys.revoke(id, authorOf(response.req));
    this.log.write('An operator key was revoked', { operatorId: operator.id, operatorKeyId: id });
    this.pages.leadTo(response, `${OPERATOR_KEYS_PATH}?done=revoked`);
  }

  private async page(operatorId: string, { query = {}, ...shown }: Shown): Promise<Page> {
    const position = positionIn(query);
    const { rows, next } = await this.keys.page(position, PAGE_SIZE);
    const content = OperatorKeysView({
      ...{ operatorId, keys: rows, now: new Date(this.now()), done: DONE.get(query['done']) },
      latest: position === undefined ? undefined : OPERATOR_KEYS_PATH,
      older: next && pathWith(OPERATOR_KEYS_PATH, { ...positionQuery(next) }),
      ...shown,
    });
    return { title: 'Operator keys', section: 'accounts', width: 'wide', content };
  }
}
