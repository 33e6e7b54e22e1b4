import { CurlPanel } from './curl-panel.js';
import { ModelChoice, type ModelChoiceProps } from './model-choice.js';
import { SettingsFields } from './settings-fields.js';

export interface PlaygroundViewProps extends ModelChoiceProps {
  readonly accountId: string;
  /** The scheme, host and port of the service, as the browser sees them. */
  readonly origin: string;
}

/** The page for a conversation with a model. Sending requires the script. Without JavaScript, the page says what to do. */
export function PlaygroundView({ models, tier, accountId, origin }: PlaygroundViewProps) {
  const [first] = models;
  return (
    <>
      <h1>Playground</h1>
      <p id="without-script" class="notice">
        The playground needs JavaScript, to show an answer while it is written. The command below does the same from a
        terminal; make a key for it under <a href="/settings/api-keys">Settings &gt; API Keys</a>.
      </p>
      {first === undefined ? (
        <p class="notice">This service has no model yet: whoever runs it has to configure one.</p>
      ) : null}
      <form id="ask" class="playground" autocomplete="off" data-account={accountId}>
        <div class="chat">
          <label class="model-choice">
            <span>Model</span>
            <ModelChoice models={models} tier={tier} />
          </label>
          <div id="conversation" role="log" aria-live="off" aria-label="Conversation" tabIndex={0}>
            <div class="empty-state">
              <p>
                <strong>Ask something.</strong>
              </p>
              <p>
                The answer shows here while it is written. The page asks as your own programs do, by{' '}
                <code>POST /api/v1/chat/stream</code>, and it counts as one of your requests.
              </p>
              <p>What you write is kept in this tab only, until you reload it.</p>
            </div>
          </div>
          <div class="composer">
            <label for="message">Message</label>
            <textarea id="message" rows={3} aria-describedby="message-hint" />
            <div class="composer-foot">
              <div class="actions">
                <button id="send" disabled>
                  Send
                </button>
                <button id="stop" type="button" class="secondary" disabled>
                  Stop
                </button>
                <button id="clear" type="button" class="secondary outline" disabled>
                  Clear
                </button>
              </div>
              <small id="message-hint">
                <kbd>Enter</kbd> sends, <kbd>Shift</kbd> + <kbd>Enter</kbd> begins a new line.
              </small>
            </div>
          </div>
        </div>
        <SettingsFields first={first} tier={tier} />
      </form>
      <p id="announcer" class="visually-hidden" role="status" />
      <CurlPanel origin={origin} modelId={first?.id ?? 'vendor/model'} />
    </>
  );
}
