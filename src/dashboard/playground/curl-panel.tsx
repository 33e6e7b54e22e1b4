interface CurlPanelProps {
  readonly origin: string;
  readonly modelId: string;
}

/** The request as a command. The script keeps it the very one that Send would send. */
export function CurlPanel({ origin, modelId }: CurlPanelProps) {
  return (
    <details id="curl" class="curl">
      <summary>This request as curl</summary>
      <p>
        <code>$API_KEY</code> stands for a key from <a href="/settings/api-keys">Settings &gt; API Keys</a>:{' '}
        <code>export API_KEY=csk_…</code>
      </p>
      <pre tabIndex={0} aria-label="Command">
        <code id="curl-command">{firstRequest(origin, modelId)}</code>
      </pre>
      <p class="actions">
        <button id="curl-copy" type="button" class="secondary" hidden>
          Copy
        </button>
        <span id="curl-outcome" role="status" />
      </p>
    </details>
  );
}

function firstRequest(origin: string, model: string): string {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }], temperature: 0.7 });
  return [
    `curl -N ${quoted(`${origin}/api/v1/chat/stream`)}`,
    '  -H "Authorization: Bearer $API_KEY"',
    "  -H 'Content-Type: application/json'",
    `  --data-raw ${quoted(body)}`,
  ].join(' \\\n');
}

/** One word of the shell: nothing has a meaning between single quotes, but for these themselves. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
