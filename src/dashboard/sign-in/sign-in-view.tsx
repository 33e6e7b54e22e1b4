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
      <p class="lead">To chat, to make API keys, and to see what was used.</p>
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
        <p class="fine">
          New accounts are made by the operator of this service. Ask them for one, or for a new password.
        </p>
      )}
    </>
  );
}
