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
      <p class="lead">Create your account.</p>
      <FormFailure problems={problems} fields={['email', 'password']} />
      <form method="post" action="/sign-up">
        <Field label="Email" name="email" type="email" value={email} autoComplete="username" problems={problems} />
        <Field
          label="Password"
          name="password"
          type="password"
          autoComplete="new-password"
          hint="At least 8 characters. A few random words work well."
          problems={problems}
        />
        {next === undefined ? null : <input type="hidden" name="next" value={next} />}
        <button>Sign up</button>
      </form>
      <p>
        Already have an account? <a href={withNext('/sign-in', next)}>Sign in</a>
      </p>
    </>
  );
}

export function SignUpClosedView() {
  return (
    <>
      <h1>Sign up</h1>
      <p class="lead">Sign-up is closed. Ask the operator of this service for an account.</p>
      <p>
        Already have an account? <a href="/sign-in">Sign in</a>
      </p>
    </>
  );
}
