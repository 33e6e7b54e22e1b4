import { quoted } from '../../common/text/curl-line.js';
import { Copyable } from '../parts/copyable.js';

interface FirstRequestProps {
  /** The scheme, host and port of the service, as the browser sees them. */
  readonly origin: string;
  readonly modelId: string;
}

/** What a browser without JavaScript shows instead of the conversation: a request as a curl command. */
export function FirstRequest({ origin, modelId }: FirstRequestProps) {
  return (
    <section id="without-script">
      <p class="notice">
        The playground needs JavaScript. To use a terminal instead, run this command with a key from{' '}
        <a href="/settings/api-keys">API keys</a>.
      </p>
      <details class="curl">
        <summary>This request as curl</summary>
        <p class="fine">
          Replace <code>$API_KEY</code> with your key, or set it first: <code>export API_KEY=csk_…</code>
        </p>
        <Copyable what="command" id="curl-command" text={curlOf(origin, modelId)} />
      </details>
    </section>
  );
}

function curlOf(origin: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }], temperature: 0.7 });
  return [
    `curl -N ${quoted(`${origin}/api/v1/chat/stream`)}`,
    // Double quotes, because the shell must replace $API_KEY.
    '  -H "Authorization: Bearer $API_KEY"',
    `  -H ${quoted('Content-Type: application/json')}`,
    `  --data-raw ${quoted(body)}`,
  ].join(' \\\n');
}
