import { Get, Res } from '@nestjs/common';
import { AccountsService, ChatPlugin, OperatorOnly, PageController, Pages } from 'chat-streaming-service';
import type { Response } from 'express';
import { h } from 'preact';
import { Spending, SpendingPlugin } from './spending.plugin.js';

const SHOWN = 50;

/** A page for operators: which accounts have spent most today. */
@PageController('spending')
@OperatorOnly()
export class SpendingPage {
  constructor(
    private readonly pages: Pages,
    private readonly spending: Spending,
    private readonly accounts: AccountsService,
  ) {}

  @Get()
  async show(@Res() response: Response): Promise<void> {
    const spenders = (await this.spending.today()).slice(0, SHOWN);
    const emails = await this.accounts.emailsOf(spenders.map(({ accountId }) => accountId));
    const row = (cell: 'th' | 'td', ...texts: readonly string[]) =>
      h(
        'tr',
        null,
        texts.map((text) => h(cell, null, text)),
      );
    const content = h('section', null, [
      h('h1', null, 'Spending today'),
      h('table', null, [
        h('thead', null, row('th', 'Account', 'Cost')),
        h(
          'tbody',
          null,
          spenders.map(({ accountId, cost }) => row('td', emails.get(accountId) ?? accountId, cost.toFixed(4))),
        ),
      ]),
    ]);
    this.pages.send(response, { title: 'Spending today', section: '/spending', content });
  }
}

@ChatPlugin({
  name: 'spending-page',
  compatibility: '^1',
  imports: [SpendingPlugin],
  controllers: [SpendingPage],
  navigation: [{ label: 'Spending', path: '/spending', audience: 'operators' }],
})
export class SpendingPagePlugin {}
