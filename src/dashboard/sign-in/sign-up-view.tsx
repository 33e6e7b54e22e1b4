import { Field } from '../forms/field.js';
import type { FormProblems } from '../forms/field-problems.js';
import { FormFailure } from '../forms/notice.js';
import { withNext } from '../local-path.js';

interface SignUpViewProps {
  readonly email: string;
  readonly next: string | undefined;
  readonly problems: FormProblems | undefined;
}

export function SignUpView({ email, next, problems }: SignUpViewProps) {
  return (
    <>
      <h1>Sign up</h1>
      <p class="lead">An email address and a password are all that it takes.</p>
      <FormFailure problems={problems} fields={['email', 'password']} />
      <form method="post" action="/sign-up">
        <Field label="Email" name="email" type="email" value={email} autoComplete="username" problems={problems} />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="new-password"
          hint="At least 8 characters. A few words make a good one."
          problems={problems}
        />
        {next === undefined ? null : <input type="hidden" name="next" value={next} />}
        <button>Sign up</button>
      </form>
      <p>
        You have an account? <a href={withNext('/sign-in', next)}>Sign in</a>
      </p>
    </>
  );
}

export function SignUpClosedView() {
  return (
    <>
      <h1>Sign up</h1>
      <p class="lead">New accounts are made by the operator of this service only. Ask them for one.</p>
      <p>
        You have an account? <a href="/sign-in">Sign in</a>
      </p>
    </>
  );
}
