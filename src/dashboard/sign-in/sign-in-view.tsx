import type { Config } from '../../config/config.js';
import { Field } from '../forms/field.js';
import type { FormProblems } from '../forms/field-problems.js';
import { FormFailure } from '../forms/notice.js';
import { withNext } from '../local-path.js';

interface SignInViewProps {
  readonly email: string;
  readonly next: string | undefined;
  readonly problems: FormProblems | undefined;
  readonly signUp: Config['signUp'];
}

export function SignInView({ email, next, problems, signUp }: SignInViewProps) {
  return (
    <>
      <h1>Sign in</h1>
      <p class="lead">Chat with models, manage API keys, track usage.</p>
      <FormFailure problems={problems} fields={[]} />
      <form method="post" action="/sign-in">
        <Field label="Email" name="email" type="email" value={email} autoComplete="username" problems={problems} />
        <Field label="Password" name="password" type="password" autoComplete="current-password" problems={problems} />
        {next === undefined ? null : <input type="hidden" name="next" value={next} />}
        <button>Sign in</button>
      </form>
      {signUp === 'open' ? (
        <p>
          No account yet? <a href={withNext('/sign-up', next)}>Sign up</a>
        </p>
      ) : (
        <p class="fine">Sign-up is closed. Ask the operator of this service for an account or a new password.</p>
      )}
    </>
  );
}
