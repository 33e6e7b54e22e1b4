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
        The playground needs JavaScript. To use a terminal instead, run the command below with a key from{' '}
        <a href="/settings/api-keys">API keys</a>.
      </p>
      {first === undefined ? (
        <p class="notice">No model is configured. Ask the operator of this service to configure one.</p>
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
                <strong>Ask a question.</strong>
              </p>
              <p>
                The answer appears here as it is generated. This page uses the same API as your code,{' '}
                <code>POST /api/v1/chat/stream</code>, and counts towards your limits.
              </p>
              <p>The conversation is stored only in this tab, until you reload the page.</p>
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
                <kbd>Enter</kbd> sends, <kbd>Shift</kbd> + <kbd>Enter</kbd> starts a new line.
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
