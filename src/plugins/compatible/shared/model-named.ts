import { ServiceError } from '../../../plugin-api/core/common.js';
import type { ModelConfig } from '../../../plugin-api/core/config.js';
import type { ModelAccess, ModelCatalog } from '../../../plugin-api/core/models.js';

/**
 * Returns the model with this id or alias.
 *
 * @param access what the caller may use. By default all models.
 * @throws {ServiceError} `model_not_found`, whatever the form of the name: clients of other APIs have other names.
 */
export function modelNamed(name: string, catalog: ModelCatalog, access?: ModelAccess): ModelConfig {
  const model = catalog.find(name);
  if (model !== undefined && access?.allowsModel(model.id) !== false) return model;
  throw new ServiceError(
    'model_not_found',
    'This model does not exist. GET /api/v1/models lists the available models.',
    {
      details: [{ field: 'model', message: 'is unknown' }],
    },
  );
}
