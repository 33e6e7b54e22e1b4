// What plugins use of platform/http.
export { WholeBody } from '../../platform/http/answers/whole-body.js';
export { BodyClass, type BodyParser, BodyValues, Form } from '../../platform/http/body/body-class.decorator.js';
export { ClientConnections } from '../../platform/http/connections/client-connections.js';
export { logAcceptFailures } from '../../platform/http/connections/serve-connections.js';
export { allowedMethods, ServiceErrorFilter } from '../../platform/http/errors/service-error.filter.js';
export { recordSentError, sendError } from '../../platform/http/errors/send-error.js';
export { toServiceError } from '../../platform/http/errors/to-service-error.js';
export { HttpModule } from '../../platform/http/http.module.js';
export {
  ApiBearerAuth,
  ApiExcludeController,
  ApiHeader,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
  ApiParam,
  ApiProperty,
  ApiPropertyOptional,
  ApiQuery,
  ApiResponse,
  ApiSchema,
  ApiTags,
  ROUTE_RATE_HEADERS,
  RATE_LIMIT_HEADERS,
  schemaPath,
} from '../../platform/http/open-api/api-decorators.js';
export { ApiErrors } from '../../platform/http/open-api/api-errors.decorator.js';
export { operationsOf } from '../../platform/http/open-api/defined-errors.js';
export { invalidRequest, RequestValidationPipe } from '../../platform/http/request/request-validation.pipe.js';
export { beginContext, type RequestContext } from '../../platform/http/request/request-context.js';
export { OnlyIf, isPublic, Public, ReadsKey } from '../../platform/http/routing/route-decorators.js';
export { OutsideApi, Surface } from '../../platform/http/surface/surface.decorator.js';
export { PartOf, PluginsInUse } from '../../platform/http/surface/plugins-in-use.js';
export { Surfaces } from '../../platform/http/surface/surfaces.js';
export { clientGone } from '../../platform/http/request/client-gone.js';
