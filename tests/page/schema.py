"""The part of JSON Schema that docs/report.schema.json is written in: what of a document is not as the schema says."""

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
KEYWORDS = {
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "const",
    "enum",
    "anyOf",
    "items",
    "required",
    "properties",
    "additionalProperties",
}


def is_of(value, name):
    is_bool = isinstance(value, bool)
    return isinstance(value, TYPES[name]) and (is_bool == (name == "boolean") or name in ("object", "array"))


def faults(value, schema, root, place="", strict=True):
    """Texts; strict: of properties too that the schema does not have."""
    unknown = set(schema) - KEYWORDS
    if unknown:
        raise ValueError(f"the schema has words that are not checked: {unknown}")
    if "$ref" in schema:
        yield from faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, place, strict)
        return
    if "anyOf" in schema:
        of_each = [list(faults(value, s, root, place, strict)) for s in schema["anyOf"]]
        if all(of_each):
            yield from min(of_each, key=len)
        return
    if "const" in schema and value != schema["const"]:
        yield f"{place} is {value!r}, not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{place} is {value!r}, none of {schema['enum']}"
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_of(value, name) for name in names):
        yield f"{place} is {value!r:.60}, not of type {' or '.join(names)}"
        return
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            yield from faults(item, schema["items"], root, f"{place}[{i}]", strict)
    if not isinstance(value, dict):
        return
    for name in schema.get("required", []):
        if name not in value:
            yield f"{place} has no {name}"
    properties, others = schema.get("properties", {}), schema.get("additionalProperties")
    for name, item in value.items():
        inside = properties.get(name, others)
        if inside is not None:
            yield from faults(item, inside, root, f"{place}.{name}", strict)
        elif strict and properties:
            yield f"{place}.{name} is not in the schema"
