import type { Response } from 'express';
import type { NewSession } from '../../accounts/sessions/sessions.service.js';
import type { SignIn } from '../../auth/sign-in/sign-in.js';
import { Public } from '../../http/routing/public.decorator.js';
import { PageController } from '../page-controller.decorator.js';
import { CredentialsController, type FormState } from './credentials.controller.js';
import { SignUpClosedView, SignUpView } from './sign-up-view.js';

const PAGE = { place: 'sign-up', width: 'narrow' } as const;

@PageController('sign-up')
@Public()
export class SignUpController extends CredentialsController {
  protected override begin(...parameters: Parameters<SignIn['signUp']>): Promise<NewSession> {
    return this.signIns.signUp(...parameters);
  }

  protected override sendForm(response: Response, state: FormState): void {
    const { problems } = state;
    const isClosed = problems === undefined ? this.pages.signUp === 'closed' : problems.error.code === 'forbidden';
    if (isClosed) {
      this.pages.send(response, { ...PAGE, title: 'Sign up', content: SignUpClosedView() }, 403);
      return;
    }
    const content = SignUpView(state);
    if (problems === undefined) this.pages.send(response, { ...PAGE, title: 'Sign up', content });
    else this.pages.sendFailure(response, { ...PAGE, title: 'Error: Sign up', content }, problems.error);
  }
}
