import { OnlyIf } from '../http/routing/only-if.decorator.js';

/** Marks a route, or all routes of a controller, that exists only if accounts can have passwords. */
export const WithPasswords = (): ClassDecorator & MethodDecorator => OnlyIf(({ passwords }) => passwords === 'on');
