# Longfat from its wheels: `make wheel && docker build --tag longfat .`
FROM python:3.12-slim
RUN --mount=type=bind,source=dist,target=/dist \
    pip install --no-cache-dir --find-links /dist /dist/longfat_papers-*.whl \
    && useradd --create-home user && install --directory --owner user /work
USER user
WORKDIR /work
ENTRYPOINT ["longfat"]
CMD ["suite", "li2007", "--quick"]
