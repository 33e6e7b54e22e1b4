import { OnlyIf } from '../../plugin-api/core/http.js';

/** Marks a route, or all routes of a controller, that exists only if accounts can have passwords. */
export const WithPasswords = (): ClassDecorator & MethodDecorator => OnlyIf(({ passwords }) => passwords === 'on');
