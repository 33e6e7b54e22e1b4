interface RequestCode {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  /** The API key. By default, the code reads the key from the environment variable `API_KEY`. */
  readonly key?: string;
  /** The request as JSON. JSON of texts and numbers is also valid JavaScript and valid Python. */
  readonly request: string;
}

/** A program for Node that prints the answer as it arrives, and fails if the answer is incomplete. It needs no package. */
export function javascriptCode({ origin, key, request }: RequestCode): string {
  return `const request = ${request};

const response = await fetch(${JSON.stringify(`${origin}/api/v1/chat/stream`)}, {
  method: 'POST',
  headers: {
    Authorization: \`Bearer \${${key === undefined ? 'process.env.API_KEY' : JSON.stringify(key)}}\`,
    'Content-Type': 'application/json',
  },
  body: JSON.stringify(request),
});
if (!response.ok) throw new Error(await response.text());

let unread = '';
let complete = false;
for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  const lines = (unread + text).split('\\n');
  unread = lines.pop();
  for (const line of lines.filter((one) => one.startsWith('data: '))) {
    const { content, done, error } = JSON.parse(line.slice('data: '.length));
    if (error) throw new Error(error.message);
    process.stdout.write(content);
    complete ||= done;
  }
}
if (!complete) throw new Error('The answer is incomplete.');
`;
}

/** The same in Python 3, with the standard library only. */
export function pythonCode({ origin, key, request }: RequestCode): string {
  return `import json
import os
import urllib.request

request = ${request}

call = urllib.request.Request(
    ${JSON.stringify(`${origin}/api/v1/chat/stream`)},
    data=json.dumps(request).encode(),
    headers={
        "Authorization": "Bearer " + ${key === undefined ? 'os.environ["API_KEY"]' : JSON.stringify(key)},
        "Content-Type": "application/json",
    },
)
complete = False
with urllib.request.urlopen(call) as response:
    for line in response:
        if not line.startswith(b"data: "):
            continue
        chunk = json.loads(line[len(b"data: "):])
        if "error" in chunk:
            raise RuntimeError(chunk["error"]["message"])
        print(chunk["content"], end="", flush=True)
        complete = chunk["done"]
if not complete:
    raise RuntimeError("The answer is incomplete.")
`;
}

/** Returns a curl command for a chat request to the service. A user can paste it into a shell. */
export function curlLine({ origin, key, request }: RequestCode): string {
  return [
    `curl -N ${quoted(`${origin}/api/v1/chat/stream`)}`,
    // Double quotes, because the shell must replace $API_KEY.
    `  -H ${key === undefined ? '"Authorization: Bearer $API_KEY"' : quoted(`Authorization: Bearer ${key}`)}`,
    `  -H ${quoted('Content-Type: application/json')}`,
    `  -d ${quoted(request)}`,
  ].join(' \\\n');
}

/** Quotes a text, so that a shell reads it as one word, whatever characters it contains. */
function quoted(text: string): string {
  return /^[\w:/.@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
