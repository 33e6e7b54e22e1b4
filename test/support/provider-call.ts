export { ProviderCall } from '../../src/testing/provider/provider-call.js';
