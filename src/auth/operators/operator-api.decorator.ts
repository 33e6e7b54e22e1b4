import { applyDecorators, SetMetadata } from '@nestjs/common';
import { ApiBearerAuth, ApiTags, OPERATOR_SECURITY } from '../../http/open-api/api-decorators.js';
import { Public } from '../../http/routing/public.decorator.js';

export const OPERATOR_API = Symbol('OPERATOR_API');

/**
 * Opens all routes of a controller to operator keys, and to no other credential. `GET` needs a key of any scope, and every other
 * method needs the scope `write`. See `OperatorAccess`.
 */
export const OperatorApi = (): ClassDecorator =>
  applyDecorators(
    // For the guard of ordinary credentials. The guard then asks for an operator key instead.
    Public(),
    SetMetadata(OPERATOR_API, true),
    ApiBearerAuth(OPERATOR_SECURITY),
    ApiTags('Operators'),
  );
