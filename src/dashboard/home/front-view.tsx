import type { Config, ModelConfig } from '../../config/config.js';
import { count } from '../format/numbers.js';
import { DOCS_PATH } from '../layout/navigation.js';
import { Table } from '../parts/table.js';

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
          <Table
            caption="Models"
            rows={models}
            columns={[
              { title: 'Model', cell: ({ name }) => name },
              { title: 'Provider', cell: ({ provider }) => provider },
              { title: 'ID', cell: ({ id }) => <code>{id}</code> },
              { title: 'Context in tokens', isNumber: true, cell: ({ contextLength }) => count(contextLength) },
            ]}
          />
        )}
      </section>
    </>
  );
}
