import { Body, Get, Res } from '@nestjs/common';
import {
  ChatPlugin,
  CurrentPrincipal,
  PageController,
  PageForm,
  PostForm,
  Pages,
  type FormProblems,
  type Page,
  type Principal,
} from 'chat-streaming-service';
import type { Response } from 'express';
import { h } from 'preact';
import { NewPrompt, Prompts, PromptsPlugin } from './prompts.plugin.js';

/** A page with a form, in the layout of the web application, with its security headers and its navigation. */
@PageController('prompts')
export class PromptsPage {
  constructor(
    private readonly pages: Pages,
    private readonly prompts: Prompts,
  ) {}

  @Get()
  async show(@CurrentPrincipal() { accountId }: Principal, @Res() response: Response): Promise<void> {
    this.pages.send(response, await this.page(accountId));
  }

  @PostForm()
  async add(
    @Body() form: Readonly<Partial<NewPrompt>>,
    @CurrentPrincipal() { accountId }: Principal,
    @Res() response: Response,
  ): Promise<void> {
    await this.pages.submit(
      response,
      async () => {
        await this.prompts.add(accountId, await this.pages.validated(form, NewPrompt));
        this.pages.redirect(response, '/prompts');
      },
      (problems) => this.page(accountId, form, problems),
    );
  }

  private async page(accountId: string, form?: Readonly<Partial<NewPrompt>>, problems?: FormProblems): Promise<Page> {
    const own = await this.prompts.of(accountId);
    const content = h('section', null, [
      h('h1', null, 'Prompts'),
      h(
        'ul',
        { class: 'prompts' },
        own.map(({ name, text }) => h('li', null, [h('b', null, name), `: ${text}`])),
      ),
      h(PageForm, {
        action: '/prompts',
        accountId,
        fields: [
          { label: 'Name', name: 'name', type: 'text', value: form?.name, maxLength: 40, autoComplete: 'off' },
          { label: 'Text', name: 'text', type: 'text', value: form?.text, maxLength: 4_000, autoComplete: 'off' },
        ],
        button: 'Keep prompt',
        problems,
      }),
    ]);
    return { title: 'Prompts', section: '/prompts', style: 'prompts-page/prompts.css', content };
  }
}

@ChatPlugin({
  name: 'prompts-page',
  compatibility: '^1',
  imports: [PromptsPlugin],
  controllers: [PromptsPage],
  navigation: [{ label: 'Prompts', path: '/prompts' }],
  assets: [new URL('../assets/prompts.css', import.meta.url)],
})
export class PromptsPagePlugin {}
