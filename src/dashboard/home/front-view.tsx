import type { Config, ModelConfig } from '../../config/config.js';
import { DOCS_PATH } from '../layout/navigation.js';
import { count } from '../usage/number-text.js';

interface FrontViewProps {
  readonly models: readonly ModelConfig[];
  readonly signUp: Config['signUp'];
  readonly hasDocs: boolean;
}

/** What a visitor sees first: what the service is, which models there are, and where the documentation is. */
export function FrontView({ models, signUp, hasDocs }: FrontViewProps) {
  return (
    <>
      <h1>One API for many language models</h1>
      <p class="lead">
        Send a conversation, and read the answer while it is generated. All models have the same request and response
        format, and your program can always tell a complete answer from an incomplete one.
      </p>
      <p class="actions">
        {signUp === 'open' ? (
          <a href="/sign-up" role="button">
            Sign up
          </a>
        ) : null}
        <a href="/sign-in" role="button" class={signUp === 'open' ? 'outline' : ''}>
          Sign in
        </a>
        {hasDocs ? <a href={DOCS_PATH}>Read the API documentation</a> : null}
      </p>
      <section aria-labelledby="models">
        <h2 id="models">Models</h2>
        {models.length === 0 ? (
          <p class="empty">No model is configured yet.</p>
        ) : (
          <div class="table" role="region" aria-labelledby="models" tabIndex={0}>
            <table>
              <thead>
                <tr>
                  <th scope="col">Model</th>
                  <th scope="col">Provider</th>
                  <th scope="col">ID</th>
                  <th scope="col" class="number">
                    Context in tokens
                  </th>
                </tr>
              </thead>
              <tbody>
                {models.map(({ id, name, provider, contextLength }) => (
                  <tr key={id}>
                    <th scope="row">{name}</th>
                    <td>{provider}</td>
                    <td>
                      <code>{id}</code>
                    </td>
                    <td class="number">{count(contextLength)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </section>
    </>
  );
}
