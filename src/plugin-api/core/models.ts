// What plugins use of models.
export { type ModelAccess, modelAccessOf, ModelCatalog } from '../../models/model-catalog.js';
export { ModelsModule } from '../../models/models.module.js';
