import { Get, Inject, Res } from '@nestjs/common';
import type { ComponentChildren } from 'preact';
import type { Response } from 'express';
import { ApiKeysService, type VerifiedSession } from '../../plugin-api/core/accounts.js';
import { CurrentSession, publicOriginOf } from '../../plugin-api/core/auth.js';
import { type Clock, CLOCK } from '../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../plugin-api/core/config.js';
import { Public } from '../../plugin-api/core/http.js';
import { ModelCatalog } from '../../plugin-api/core/models.js';
import { RateLimited } from '../../plugin-api/core/throttling.js';
import { RecentStreams, ReportSemaphore } from '../../plugin-api/core/usage.js';
import { count } from './numbers-and-times.js';
import type { Page } from './layout/layout.js';
import { PageController } from './page-controller.decorator.js';
import { Pages } from './pages.js';
import { Copyable, Section } from './parts/blocks.js';
import { Table } from './parts/table.js';
import { API_KEYS_PATH, DOCS_PATH, REFERENCE_PATH, HOME, PLAYGROUND_PATH } from './paths.js';

/** Before any request of the service was made. */
const LONG_AGO = new Date(0);

/** The first steps of an account that are done. */
interface StepsDone {
  readonly hasChatted: boolean;
  readonly hasKey: boolean;
}

/** The page at `/`: what the service is, for visitors; the first steps, for an account without any request. */
@PageController()
export class HomeController {
  constructor(
    private readonly pages: Pages,
    private readonly models: ModelCatalog,
    private readonly keys: ApiKeysService,
    private readonly streams: RecentStreams,
    private readonly semaphore: ReportSemaphore,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  @Get()
  @Public()
  @RateLimited('pages')
  async show(@CurrentSession() session: VerifiedSession | undefined, @Res() response: Response): Promise<void> {
    if (session === undefined) {
      this.pages.send(response, this.frontPage());
      return;
    }
    const accountId = session.account.id;
    const period = { from: LONG_AGO, to: new Date(this.now() + 1) };
    const [byPage, byKey, keyCount] = await this.semaphore.run(accountId, () =>
      Promise.all([
        this.streams.list({ ...period, accountId, key: 'session' }, 1),
        this.streams.list({ ...period, accountId, credential: 'api_key' }, 1),
        this.keys.count(accountId),
      ]),
    );
    if (byKey.rows.length > 0) this.pages.redirect(response, HOME);
    else {
      const done = { hasChatted: byPage.rows.length > 0, hasKey: keyCount > 0 };
      this.pages.send(response, this.startPage(done, publicOriginOf(response.req)));
    }
  }

  /** What a visitor sees first: what the service is, which models there are, and where the documentation is. */
  private frontPage(): Page {
    const { hasDocs } = this.pages;
    const hasSignUp = this.pages.signUp === 'open';
    const content = (
      <>
        <h1>One API for many language models</h1>
        <p class="lead">
          Send a conversation, and read the answer while it is generated. All models have the same request and response
          format, and your program can always tell a complete answer from an incomplete one.
        </p>
        <p class="actions">
          {hasSignUp ? (
            <a href="/sign-up" role="button">
              Sign up
            </a>
          ) : null}
          <a href="/sign-in" role="button" class={hasSignUp ? 'outline' : ''}>
            Sign in
          </a>
          {hasDocs ? <a href={REFERENCE_PATH}>Read the API documentation</a> : null}
        </p>
        <Section id="models" title="Models">
          <Table
            caption="Models"
            rows={this.models.all()}
            empty="No model is configured yet."
            columns={[
              { title: 'Model', cell: ({ name }) => name },
              { title: 'Provider', cell: ({ provider }) => provider },
              { title: 'ID', cell: ({ id }) => <code>{id}</code> },
              { title: 'Context in tokens', isNumber: true, cell: ({ contextLength }) => count(contextLength) },
            ]}
          />
        </Section>
      </>
    );
    return { title: 'Home', content };
  }

  /** The first steps of an account, until its first request with an API key. */
  private startPage({ hasChatted, hasKey }: StepsDone, origin: string): Page {
    const content = (
      <>
        <h1>Get started</h1>
        <ol class="steps">
          <Step isDone>Create an account</Step>
          <Step isDone={hasKey}>
            Create a key under <a href={API_KEYS_PATH}>API keys</a>. It comes with examples for curl, JavaScript and
            Python.
          </Step>
          <Step isDone={hasChatted}>
            Chat with a model in the <a href={PLAYGROUND_PATH}>playground</a>
          </Step>
          <Step isDone={false}>
            Call the API from your code. An SDK needs one line:
            <Copyable what="line" id="sdk-line" text={sdkLine(origin, this.config)} />
            {this.pages.hasDocs ? (
              <>
                The <a href={DOCS_PATH}>documentation</a> names the settings of other SDKs and of agents.
              </>
            ) : null}
          </Step>
        </ol>
        <p class="fine">This list disappears after the first request with a key.</p>
      </>
    );
    return { title: 'Get started', script: 'shown-once.js', content };
  }
}

/** How the SDK of OpenAI connects, or the typed client if the service has no interface for that SDK. */
function sdkLine(origin: string, { compatibleApis }: Config): string {
  return compatibleApis.includes('chat-completions')
    ? `const openai = new OpenAI({ baseURL: '${origin}/api/v1', apiKey: process.env.CHAT_API_KEY });`
    : `const client = new ChatClient({ baseUrl: '${origin}', apiKey: process.env.CHAT_API_KEY });`;
}

function Step({ isDone, children }: { readonly isDone: boolean; readonly children: ComponentChildren }) {
  return (
    <li class={isDone ? 'done' : ''}>
      <span class="badge">{isDone ? 'Done' : 'To do'}</span> {children}
    </li>
  );
}
