import type { Response } from 'express';
import type { NewSession } from '../../accounts/sessions/sessions.service.js';
import type { SignIn } from '../../auth/sign-in/sign-in.js';
import { Public } from '../../http/routing/public.decorator.js';
import { PageController } from '../page-controller.decorator.js';
import { CredentialsController, type FormState } from './credentials.controller.js';
import { SignInView } from './sign-in-view.js';

const PAGE = { place: 'sign-in', width: 'narrow' } as const;

@PageController('sign-in')
@Public()
export class SignInController extends CredentialsController {
  protected override begin(...parameters: Parameters<SignIn['signIn']>): Promise<NewSession> {
    return this.signIns.signIn(...parameters);
  }

  protected override sendForm(response: Response, state: FormState): void {
    const content = SignInView({ ...state, signUp: this.pages.signUp });
    if (state.problems === undefined) this.pages.send(response, { ...PAGE, title: 'Sign in', content });
    else this.pages.sendFailure(response, { ...PAGE, title: 'Error: Sign in', content }, state.problems.error);
  }
}
