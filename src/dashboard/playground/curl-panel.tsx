import { quoted } from '../../common/text/curl-line.js';
import { Copyable } from '../layout/copyable.js';

interface CurlPanelProps {
  /** The scheme, host and port of the service, as the browser sees them. */
  readonly origin: string;
  readonly modelId: string;
}

/** Shows the request as a curl command. The script updates the command, so it always matches the request of Send. */
export function CurlPanel({ origin, modelId }: CurlPanelProps) {
  return (
    <details id="curl" class="curl">
      <summary>This request as curl</summary>
      <p class="fine">
        Replace <code>$API_KEY</code> with a key from <a href="/settings/api-keys">API keys</a>, or set it first:{' '}
        <code>export API_KEY=csk_…</code>
      </p>
      <Copyable what="command" id="curl-command" text={firstRequest(origin, modelId)} />
    </details>
  );
}

function firstRequest(origin: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }], temperature: 0.7 });
  return [
    `curl -N ${quoted(`${origin}/api/v1/chat/stream`)}`,
    // Double quotes, because the shell must replace $API_KEY.
    '  -H "Authorization: Bearer $API_KEY"',
    `  -H ${quoted('Content-Type: application/json')}`,
    `  --data-raw ${quoted(body)}`,
  ].join(' \\\n');
}
