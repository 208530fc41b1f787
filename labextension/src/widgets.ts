// The widgets: all that a page may find by name in this module, one file each.

export { FieldModel, FieldView } from './fieldWidget';
export { ListingModel, ListingView } from './listingWidget';
export { PaneModel, PaneView } from './paneWidget';
