#!/usr/bin/env node
import 'reflect-metadata';
import { AppModule } from './app.module.js';
import { bootstrap } from './platform/start/bootstrap.js';

await bootstrap(() => AppModule.register());
