import { Get, Inject } from '@nestjs/common';
import { publicOriginOf } from '../../../plugin-api/core/auth.js';
import { ModelCatalog } from '../../../plugin-api/core/models.js';
import { curlLine, javascriptCode, pythonCode } from '../../../plugin-api/core/common.js';
import { type Config, CONFIG, MICROS, type ModelConfig, type TierConfig } from '../../../plugin-api/core/config.js';
import { SpendBudgets, type BudgetState, costBound, isPriced } from '../../../plugin-api/core/usage.js';
import { CurrentPageRequest, PageController, type PageRequest } from '../page-controller.decorator.js';
import { optionalPart, Pages } from '../pages.js';
import { Copyable } from '../parts/blocks.js';
import { API_KEYS_PATH, PLAYGROUND_PATH } from '../paths.js';
import { firstOf, ModelChoice, SettingsFields, type ModelChoiceProps } from './settings-fields.js';

/** The tokens of a short question. */
const SHORT_PROMPT = 20;

/**
 * Why an account cannot use a model now, in a few words. `undefined`: it can.
 *
 * @param budget what is left of the budget of the tier. `undefined`: there is none, or it cannot be read.
 */
function refusalOf(model: ModelConfig, tier: TierConfig, budget: BudgetState | undefined): string | undefined {
  if (tier.budget === undefined) return undefined;
  if (!isPriced(model)) return 'no price, so not within your budget';
  if (budget === undefined) return undefined;
  const left = Math.round((budget.amount - budget.spent - budget.reserved) * MICROS);
  return costBound(model, SHORT_PROMPT, 1, true).microsOf(1) > left ? 'above the rest of your budget' : undefined;
}

/** The dialog with the conversations that the browser keeps. The script fills the list. */
function HistoryDialog() {
  return (
    <dialog id="history-dialog" aria-labelledby="history-title">
      <article>
        <header>
          <h2 id="history-title">Conversations</h2>
          <button id="history-close" type="button" class="quiet">
            Close
          </button>
        </header>
        <p class="actions">
          <button id="history-new" type="button">
            New conversation
          </button>
        </p>
        <label for="history-search">Search</label>
        <input id="history-search" type="search" autocomplete="off" />
        <p id="history-status" class="fine" role="status" />
        <ul id="history-list" />
        <p class="actions">
          <button id="history-export" type="button" class="quiet">
            Export all (JSON)
          </button>
          <button id="history-delete-all" type="button" class="quiet">
            Delete all
          </button>
        </p>
        <p class="fine">
          Only this browser has the conversations of your account. Signing out deletes them, so export what you want to
          keep.
        </p>
      </article>
    </dialog>
  );
}

@PageController(PLAYGROUND_PATH)
export class PlaygroundController {
  constructor(
    private readonly pages: Pages,
    private readonly models: ModelCatalog,
    private readonly budgets: SpendBudgets,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get()
  async show(@CurrentPageRequest() { accountId, session: { account }, response }: PageRequest): Promise<void> {
    const { tier } = account;
    const origin = publicOriginOf(response.req);
    const keptSeconds = this.config.streamRetentionMs / 1000;
    const takesImagesAndTools = this.pages.has('compatible');
    const budget = await optionalPart(this.budgets.stateOfAccount(accountId, tier));
    const models = this.models.all().map((model) => ({ ...model, refusal: refusalOf(model, tier, budget) }));
    this.pages.send(response, {
      title: 'Playground',
      section: 'playground',
      content: PlaygroundView({ models, tier, takesImagesAndTools, accountId, origin, keptSeconds }),
      script: 'playground/playground.js',
      style: 'playground/playground.css',
      width: 'wide',
    });
  }
}

interface PlaygroundViewProps extends ModelChoiceProps {
  readonly accountId: string;
  /** The scheme, host and port of the service, as the browser sees them. */
  readonly origin: string;
  /** How long the service keeps an answer after its end. */
  readonly keptSeconds: number;
}

/** The page for a conversation with a model. Sending requires the script. Without JavaScript, the page says what to do. */
function PlaygroundView({ accountId, origin, keptSeconds, ...choice }: PlaygroundViewProps) {
  const first = firstOf(choice.models);
  return (
    <>
      <h1>Playground</h1>
      {first === undefined ? (
        <p class="notice">No model is configured. Ask the operator of this service to configure one.</p>
      ) : null}
      <FirstRequest origin={origin} modelId={first?.id ?? 'vendor/model'} />
      <form id="ask" class="playground" autocomplete="off" data-account={accountId} data-kept-seconds={keptSeconds}>
        <div class="chat">
          <div class="model-choice">
            <label for="model">Model</label>
            <ModelChoice {...choice} />
            <button type="button" class="quiet settings-button" popovertarget="settings">
              Settings
            </button>
            <small id="model-facts" />
          </div>
          <div class="conversation-frame">
            <div id="conversation" role="log" aria-live="off" aria-label="Conversation" tabIndex={0}>
              <EmptyState />
            </div>
            <button id="latest" type="button" class="quiet" hidden>
              Jump to latest
            </button>
          </div>
          <div id="undo" role="status" />
          <Composer />
        </div>
        <SettingsFields first={first} {...choice} />
      </form>
      <p id="announcer" class="visually-hidden" role="status" />
      <CodeDialog origin={origin} />
      <HistoryDialog />
    </>
  );
}

function EmptyState() {
  return (
    <div class="empty-state">
      <p>
        <strong>Ask a question.</strong>
      </p>
      <p>
        The answer appears here as it is generated. This page uses the same API as your code,{' '}
        <code>POST /api/v1/chat/stream</code>, and counts towards your limits.
      </p>
      <p>Conversations are stored only in this browser, until you sign out or delete them under History.</p>
    </div>
  );
}

function Composer() {
  return (
    <div class="composer">
      <label for="message">Message</label>
      <ul id="images" aria-label="Images" hidden />
      <div class="composer-row">
        <textarea id="message" rows={1} aria-describedby="message-hint" />
        <button id="add-files" type="button" class="quiet" aria-label="Add files" title="Add images or text files">
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
            <path d="M8 2v12M2 8h12" />
          </svg>
        </button>
        <input id="files" type="file" multiple hidden />
        <button id="send" disabled>
          Send
        </button>
      </div>
      <div class="composer-foot">
        <div class="actions">
          <button id="show-history" type="button" class="quiet">
            History
          </button>
          <button id="clear" type="button" class="quiet" disabled>
            Clear
          </button>
          <button id="show-code" type="button" class="quiet needs-script">
            Request as code
          </button>
          <details class="menu" id="export">
            <summary class="quiet" role="button">
              Export
            </summary>
            <div>
              <button id="export-markdown" type="button" class="quiet" disabled>
                Export Markdown
              </button>
              <button id="export-json" type="button" class="quiet" disabled>
                Export JSON
              </button>
            </div>
          </details>
        </div>
        <small id="message-hint">
          <kbd>Enter</kbd> sends, <kbd>Shift</kbd> + <kbd>Enter</kbd> starts a new line, <kbd>Esc</kbd> stops.
        </small>
      </div>
    </div>
  );
}

interface FirstRequestProps {
  readonly origin: string;
  readonly modelId: string;
}

/** What a browser without JavaScript shows instead of the conversation: a request as a curl command. */
function FirstRequest({ origin, modelId: model }: FirstRequestProps) {
  const request = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }], temperature: 0.7 });
  return (
    <section id="without-script">
      <p class="notice">
        The playground needs JavaScript. To use a terminal instead, run this command with a key from{' '}
        <a href={API_KEYS_PATH}>API keys</a>.
      </p>
      <details class="curl">
        <summary>This request as curl</summary>
        <p class="fine">
          Replace <code>$API_KEY</code> with your key, or set it first: <code>export API_KEY=csk_…</code>
        </p>
        <Copyable what="command" id="curl-command" text={curlLine({ origin, request })} />
      </details>
    </section>
  );
}

const LANGUAGES = { curl: 'curl', javascript: 'JavaScript', python: 'Python' } as const;
/** The script replaces this text with the request. */
const PLACE = '{REQUEST}';

/** The dialog with a request as code. The templates hold the code around the request. */
function CodeDialog({ origin }: { readonly origin: string }) {
  return (
    <>
      <template id="code-javascript">{javascriptCode({ origin, request: PLACE })}</template>
      <template id="code-python">{pythonCode({ origin, request: PLACE })}</template>
      <dialog id="code-dialog" aria-labelledby="code-title">
        <article>
          <header>
            <h2 id="code-title">Request as code</h2>
            <button id="code-close" type="button" class="quiet">
              Close
            </button>
          </header>
          <p id="code-note" class="fine" />
          <fieldset class="languages">
            <legend class="visually-hidden">Language</legend>
            {Object.entries(LANGUAGES).map(([value, label]) => (
              <label key={value}>
                <input type="radio" name="language" value={value} checked={value === 'curl'} />
                {label}
              </label>
            ))}
          </fieldset>
          <Copyable what="code" id="request-code" text="" />
          <p class="fine">
            The code reads an API key from the variable <code>API_KEY</code>. Create a key on the page{' '}
            <a href={API_KEYS_PATH}>API keys</a>.
          </p>
        </article>
      </dialog>
    </>
  );
}
