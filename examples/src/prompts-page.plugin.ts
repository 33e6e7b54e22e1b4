import { Body, Get, Post, Req, Res } from '@nestjs/common';
import {
  ChatPlugin,
  CurrentPrincipal,
  Field,
  Form,
  FormFailure,
  formProblems,
  h,
  PageController,
  Pages,
  SessionOnly,
  type FormProblems,
  type Principal,
  type Request,
  type Response,
} from 'chat-streaming-service';
import { NewPrompt, Prompts, PromptsPlugin } from './prompts.plugin.js';

const FIELDS = ['name', 'text'];

/** A page with a form, in the layout of the web application, with its security headers and its navigation. */
@PageController('prompts')
@SessionOnly()
export class PromptsPage {
  constructor(
    private readonly pages: Pages,
    private readonly prompts: Prompts,
  ) {}

  @Get()
  async show(@CurrentPrincipal() { accountId }: Principal, @Res() response: Response): Promise<void> {
    await this.send(accountId, response);
  }

  @Form()
  @Post()
  async add(
    @Body() form: NewPrompt,
    @CurrentPrincipal() { accountId }: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    try {
      await this.prompts.add(accountId, form);
      this.pages.leadTo(response, '/prompts');
    } catch (error) {
      await this.send(accountId, response, formProblems(error, request), form);
    }
  }

  private async send(accountId: string, response: Response, problems?: FormProblems, form?: NewPrompt): Promise<void> {
    const own = await this.prompts.of(accountId);
    const field = { type: 'text', autoComplete: 'off', problems } as const;
    const content = h('section', null, [
      h('h1', null, 'Prompts'),
      h(
        'ul',
        { class: 'prompts' },
        own.map(({ name, text }) => h('li', null, [h('b', null, name), `: ${text}`])),
      ),
      h('form', { method: 'post', action: '/prompts' }, [
        h(FormFailure, { problems, fields: FIELDS }),
        h(Field, { ...field, label: 'Name', name: 'name', value: form?.name ?? '', maxLength: 40 }),
        h(Field, { ...field, label: 'Text', name: 'text', value: form?.text ?? '', maxLength: 4_000 }),
        h('button', null, 'Keep prompt'),
      ]),
    ]);
    const page = { title: 'Prompts', place: '/prompts', style: 'prompts-page/prompts.css', content } as const;
    if (problems === undefined) this.pages.send(response, page);
    else this.pages.sendFailure(response, page, problems.error);
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
